/** Commands about a model without a broker: model, doctor, tokenize, render, logits, generate. */
package io.radixflow.cli.command.model;
