/**
 * Classes that all packages of the module use: the mark of the public API, the secret from which
 * the namespaces of tenants are derived, and hashes that are equal on every machine.
 */
package io.radixflow.operators;
