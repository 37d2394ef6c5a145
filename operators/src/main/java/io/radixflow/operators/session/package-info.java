/** What a session is: its slot, its turns and branches, and what is known of its pages. */
package io.radixflow.operators.session;
