"""Integer factorization of counts: unfolding, products, starts, updates, the loop; its real and exact counterparts."""
