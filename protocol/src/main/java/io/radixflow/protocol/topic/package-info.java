/** The JSON of the records in the topics: writers of all records, and the reader for clients. */
package io.radixflow.protocol.topic;
