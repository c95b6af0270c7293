"""Charts: for each, a table of what it shows and a function that draws the table.

Tables are made from values (`lvmkit.scores.CodeCounts` most of the time), charts are Altair charts.
`svg` turns a chart into a picture for a page, `themed` into one that Altair shows itself.
"""

from lvmkit.charts.attributes import attributes_chart, attributes_table
from lvmkit.charts.cluster_stability import cluster_stability_chart, cluster_stability_table
from lvmkit.charts.code_profile import code_profile_chart, code_profile_table
from lvmkit.charts.comparison import comparison_chart, comparison_table
from lvmkit.charts.consensus import Consensus, consensus_chart, consensus_matrix
from lvmkit.charts.curves import curves_chart, curves_table
from lvmkit.charts.dendrogram import dendrogram_chart, dendrogram_table
from lvmkit.charts.fit_time import fit_time_chart, fit_time_table
from lvmkit.charts.frequencies import frequencies_chart, frequencies_table
from lvmkit.charts.heatmap import Heatmap, heatmap_chart, heatmap_matrix
from lvmkit.charts.path_curves import path_curves_chart, path_curves_table
from lvmkit.charts.posterior_histogram import posterior_histogram_chart, posterior_histogram_table
from lvmkit.charts.rank_curve import rank_chart, rank_table
from lvmkit.charts.relevance import relevance_chart, relevance_summary, relevance_table
from lvmkit.charts.score_card import score_card_chart, score_card_table
from lvmkit.charts.selection import selection_chart, selection_table
from lvmkit.charts.sizes import sizes_chart, sizes_table
from lvmkit.charts.sparsity_path import sparsity_path_chart, sparsity_path_table
from lvmkit.charts.stability import stability_chart, stability_table
from lvmkit.charts.stability_curve import stability_curve_chart, stability_curve_table
from lvmkit.charts.structure_plot import structure_plot_chart, structure_plot_table
from lvmkit.charts.svg import png, png_data_uri, svg
from lvmkit.charts.tensor_selection import tensor_selection_chart, tensor_selection_table
from lvmkit.charts.tensor_slice import tensor_slice_chart, tensor_slice_table
from lvmkit.charts.theme import theme, themed
from lvmkit.charts.topic_map import topic_map_chart, topic_map_table
from lvmkit.charts.topic_trends import topic_trends_chart, topic_trends_table
from lvmkit.charts.tree import tree_chart, tree_table
from lvmkit.charts.whitening import whitening_chart, whitening_table
from lvmkit.core import moved

__all__ = [
    "Consensus",
    "Heatmap",
    "attributes_chart",
    "attributes_table",
    "cluster_stability_chart",
    "cluster_stability_table",
    "code_profile_chart",
    "code_profile_table",
    "comparison_chart",
    "comparison_table",
    "consensus_chart",
    "consensus_matrix",
    "curves_chart",
    "curves_table",
    "dendrogram_chart",
    "dendrogram_table",
    "fit_time_chart",
    "fit_time_table",
    "frequencies_chart",
    "frequencies_table",
    "heatmap_chart",
    "heatmap_matrix",
    "path_curves_chart",
    "path_curves_table",
    "png",
    "png_data_uri",
    "posterior_histogram_chart",
    "posterior_histogram_table",
    "rank_chart",
    "rank_table",
    "relevance_chart",
    "relevance_summary",
    "relevance_table",
    "score_card_chart",
    "score_card_table",
    "selection_chart",
    "selection_table",
    "sizes_chart",
    "sizes_table",
    "sparsity_path_chart",
    "sparsity_path_table",
    "stability_chart",
    "stability_curve_chart",
    "stability_curve_table",
    "stability_table",
    "structure_plot_chart",
    "structure_plot_table",
    "svg",
    "tensor_selection_chart",
    "tensor_selection_table",
    "tensor_slice_chart",
    "tensor_slice_table",
    "theme",
    "themed",
    "topic_map_chart",
    "topic_map_table",
    "topic_trends_chart",
    "topic_trends_table",
    "tree_chart",
    "tree_table",
    "whitening_chart",
    "whitening_table",
]

__getattr__ = moved.attributes(__name__, moved.CHARTS)
