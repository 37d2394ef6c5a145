package io.radixflow.engine.tier.remote;

/**
 * An object of a remote file system.
 *
 * @param name the object's name without its folder
 * @param bytes the object's length
 * @param modified when the object was written, in milliseconds of the file system's clock
 */
public record RemoteObject(String name, long bytes, long modified) {}
