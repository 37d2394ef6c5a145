/** Python's operators and methods, and Jinja's filters and tests, for chat templates. */
package io.radixflow.text.jinja.builtin;
