/**
 * The topics of the job as the gateway uses them, in Kafka. They do not depend on turns or HTTP.
 */
package io.radixflow.gateway.topics;
