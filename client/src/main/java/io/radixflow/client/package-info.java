/** A client of the topics: sends events, follows deltas and replies, assembles texts. */
package io.radixflow.client;
