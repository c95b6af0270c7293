"""How well components hold: refits on resampled rows, compared, judged and averaged."""
