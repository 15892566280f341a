"""Data by self-distillation, Medusa-1 training, calibration."""
