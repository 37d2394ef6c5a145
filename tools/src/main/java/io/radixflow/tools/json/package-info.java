/** Lines of JSON, read as bytes within bounds. */
package io.radixflow.tools.json;
