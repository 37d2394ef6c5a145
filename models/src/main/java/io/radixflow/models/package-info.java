/**
 * The shape of a model ({@code ModelConfig}), its forward pass ({@code ForwardGraph}), and the
 * interfaces that a backend implements to run it ({@code ForwardOps}, {@code WeightLoader}).
 */
package io.radixflow.models;
