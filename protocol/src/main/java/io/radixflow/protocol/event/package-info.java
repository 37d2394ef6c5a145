/** Events and replies as JSON: schema, parser, writer. */
package io.radixflow.protocol.event;
