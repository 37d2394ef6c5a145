/** Jobs that use Radixflow as a library. */
package io.radixflow.examples;
