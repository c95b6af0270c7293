"""Topics of the State of the Union addresses: ``panel serve widgets/apps/topic_relevance.py``."""

from lvmkit import SingleTopic
from lvmkit.datasets import fetch_state_union
from lvmkit_widgets import TopicRelevance

corpus = fetch_state_union()
models = [SingleTopic(n_components=k).fit(corpus) for k in (18, 12, 6)]
board = TopicRelevance(models, corpus, name="the State of the Union")
board.servable(title="Topic relevance")
