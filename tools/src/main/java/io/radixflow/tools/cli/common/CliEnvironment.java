package io.radixflow.tools.cli.common;

import java.io.InputStream;

/**
 * What commands take from outside; tests bring their own.
 *
 * @param models finds models
 * @param input what a command reads where a file may be {@code -}
 * @param terminal whether people watch stderr, so that progress may redraw its line
 */
public record CliEnvironment(ModelLocator models, InputStream input, boolean terminal) {}
