/** The base class, options, errors, progress and JSON lines that all commands share. */
package io.radixflow.cli.command.common;
