package io.radixflow.kernels.text.jinja.value;

import java.util.List;

/** What {@code keys()}, {@code values()} and {@code items()} of a dictionary give. */
public record DictView(String name, List<Object> items) {}
