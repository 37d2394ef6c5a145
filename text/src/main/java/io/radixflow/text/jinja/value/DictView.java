package io.radixflow.text.jinja.value;

import java.util.List;

/** The result of {@code keys()}, {@code values()} or {@code items()} of a dictionary. */
public record DictView(String name, List<Object> items) {}
