"""Parts of the topic relevance dashboard."""
