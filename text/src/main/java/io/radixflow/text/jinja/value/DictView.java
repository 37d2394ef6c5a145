package io.radixflow.text.jinja.value;

import java.util.List;

/** The result of a dictionary's {@code keys()}, {@code values()} or {@code items()}. */
public record DictView(String name, List<Object> items) {}
