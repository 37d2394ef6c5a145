/**
 * Reads texts whose end is still missing, and the values in them, as models write these, into JSON:
 * marks, names, strings, literals of Python. Knows nothing of calls and messages.
 */
package io.radixflow.text.reply.json;
