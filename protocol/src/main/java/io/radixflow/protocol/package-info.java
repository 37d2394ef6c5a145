/**
 * The records of the topics, their JSON and its schemas. Types with {@code PublicApi} are for jobs
 * of users, and the build refuses to break them.
 */
package io.radixflow.protocol;
