"""A deterministic fuzz of everything public: what is tried, how it is run, and what counts as a clear answer."""
