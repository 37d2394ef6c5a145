/**
 * The data of the console's live page: figures from Flink's REST interface, and the radix tree from
 * the topic of KV events. Both are followed only while someone watches the page.
 */
package io.radixflow.gateway.live;
