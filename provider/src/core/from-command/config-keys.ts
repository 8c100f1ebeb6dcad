/** Names of the secrets in the program's own config: `apiKey`, `hfToken`, `langchainApiKey`. */
export function configKeyOf(inputPath: string): string {
  if (inputPath === "model.token" || inputPath === "environment.HF_TOKEN") return "hfToken";
  if (inputPath === "model.endpoint" || inputPath === "environment.HF_ENDPOINT") return "hfEndpoint";
  const words = inputPath
    .replace(/^environment\./, "")
    .replace(/^(?:extraArgs|engine)/, "")
    .split(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])/)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
  return words
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join("");
}
