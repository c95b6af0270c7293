"""Tensor explorer: clusters of tensors, slice by slice, the entries that tell them apart, and samples."""
