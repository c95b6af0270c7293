"""How similar covariates are: by covariance, embeddings, neighbors or hierarchies of codes."""

from lvmkit.covariates.similarities.covariance import class_covariance
from lvmkit.covariates.similarities.edges import Edges, check_similarity
from lvmkit.covariates.similarities.embeddings import from_embeddings, word_embeddings
from lvmkit.covariates.similarities.hierarchy import from_codes, from_hierarchy
from lvmkit.covariates.similarities.neighbors import nearest_neighbors

__all__ = [
    "Edges",
    "check_similarity",
    "class_covariance",
    "from_codes",
    "from_embeddings",
    "from_hierarchy",
    "nearest_neighbors",
    "word_embeddings",
]
