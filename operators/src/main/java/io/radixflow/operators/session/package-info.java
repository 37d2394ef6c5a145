/**
 * What a session is: its events and replies, its state, and how its turns become prompts. Plain
 * Java; the records are Flink POJOs, but nothing here knows Flink.
 */
package io.radixflow.operators.session;
