/**
 * The lab: tools that test, simulate and measure Radixflow. The product does not depend on it; the
 * command line finds its commands when it is on the class path.
 */
package io.radixflow.lab;
