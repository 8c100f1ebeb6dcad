/** Asks a server with the OpenAI API; no other package is needed for it. Any OpenAI client does the same with `baseUrl`. */
export async function ask(baseUrl: string, model: string, question: string): Promise<string> {
  const response = await fetch(`${baseUrl}/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, prompt: question, max_tokens: 64 }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`Cannot ask ${model}: it answered ${String(response.status)}: ${text}`);
  const answer: unknown = JSON.parse(text);
  return answerIn(answer) ?? text;
}

function answerIn(answer: unknown): string | undefined {
  if (typeof answer !== "object" || answer === null || !("choices" in answer)) return undefined;
  const first: unknown = Array.isArray(answer.choices) ? answer.choices[0] : undefined;
  if (typeof first !== "object" || first === null || !("text" in first)) return undefined;
  return typeof first.text === "string" ? first.text : undefined;
}
