/** A session's data: its slot, its turns and branches, and what is known of its pages. */
package io.radixflow.operators.session;
