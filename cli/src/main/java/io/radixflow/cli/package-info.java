/**
 * The command line: {@link io.radixflow.cli.Radixflow} is its entry point, and each command has its
 * own class.
 *
 * <p>Commands print results on stdout, progress and errors on stderr, one line per error. Exit
 * codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
 */
package io.radixflow.cli;
