/** The command {@code chat}: a conversation at the terminal or from a script. */
package io.radixflow.cli.command.chat;
