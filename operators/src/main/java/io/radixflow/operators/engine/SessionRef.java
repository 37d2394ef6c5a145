package io.radixflow.operators.engine;

/**
 * Which conversation a request is a turn of.
 *
 * @param tenant whose bounds its cached pages count for; empty for the default tenant
 * @param session id, unique among all tenants
 * @param branch branch of the session
 */
public record SessionRef(String tenant, String session, String branch) {}
