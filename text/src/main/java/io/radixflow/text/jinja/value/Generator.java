package io.radixflow.text.jinja.value;

import java.util.Iterator;

/** A sequence whose elements are computed when they are read. It can be read only once. */
public record Generator(Iterator<Object> items) {}
