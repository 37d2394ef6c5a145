/** Events and their parser: JSON becomes records, and every field is checked. */
package io.radixflow.protocol.event;
