package io.radixflow.text.jinja.value;

import java.util.Iterator;

/** A sequence that is computed while it is read, once. */
public record Generator(Iterator<Object> items) {}
