"""Topic relevance: words, map, documents and trends of the topics of fitted models."""
