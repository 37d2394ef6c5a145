/** A session's data: its slot, its turns and branches, and the known places of its pages. */
package io.radixflow.operators.session;
