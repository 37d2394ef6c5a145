/** Files of this process: locks, private and temporary directories, and checks of regular files. */
package io.radixflow.models.io;
