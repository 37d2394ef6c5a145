/**
 * Reads incomplete texts, and the values that models write in them, into JSON: marks, names,
 * strings, literals of Python. This package does not depend on calls or messages.
 */
package io.radixflow.text.reply.json;
