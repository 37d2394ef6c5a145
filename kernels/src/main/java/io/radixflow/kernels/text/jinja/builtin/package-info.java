/** What chat templates may call: Python's operators and methods, Jinja's filters and tests. */
package io.radixflow.kernels.text.jinja.builtin;
