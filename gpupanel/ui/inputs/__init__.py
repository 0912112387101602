"""Fields that edit one value: ``value``, ``setValue``, and ``valueChanged`` when a person did."""
