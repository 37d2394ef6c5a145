package io.radixflow.engine.tier.remote;

/**
 * An object of a remote file system.
 *
 * @param name without its folder
 * @param bytes its length
 * @param modified when it was written, in milliseconds of the file system's clock
 */
public record RemoteObject(String name, long bytes, long modified) {}
