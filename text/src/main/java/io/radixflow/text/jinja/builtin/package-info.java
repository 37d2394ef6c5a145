/**
 * Python's operators and methods, and Jinja's filters and tests, as far as chat templates need
 * them.
 */
package io.radixflow.text.jinja.builtin;
