/** The text side of the served model in the gateway: counts and shows tokens of prompts. */
package io.radixflow.gateway.text;
