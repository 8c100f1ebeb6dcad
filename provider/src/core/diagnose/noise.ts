/** Exceptions that are never the cause: wrappers around it, or the tail of a process that is torn down. */
export const NOISE: readonly RegExp[] = [
  /Engine core initialization failed|Engine process failed to start|initialization failed due to an exception/,
  /EngineCore encountered an issue|EngineDeadError|EngineGenerateError|Worker failed with error/,
  /CalledProcessError: Command .*vllm\.model_executor\.models\.registry|Error raised in subprocess/,
  /^RuntimeError: cancelled|^(?:asyncio\.exceptions\.)?CancelledError|^SystemExit|^GeneratorExit/,
  /^(?:BrokenPipe|ConnectionReset|ConnectionRefused)Error|^EOFError$|ContextTerminated|ActorHandleNotFoundError|ActorDiedError/,
  /^KeyError: '\/(?:psm|mp)[-_]|resource_tracker|^ProcessLookupError|can only join a child process/,
  /^AttributeError: '\w*(?:Executor|EngineCore|Client|LLM|LLMEngine)\w*' object has no attribute/,
  /ChatTemplateResolutionError|Chat template warmup failed/,
  /^(?:ImportError|ModuleNotFoundError): .*\bnumba\b/,
  /ValidationError: \d+ validation errors? for /,
  /'_OpNamespace' '_\w+' object has no attribute/,
  /Invocation of \w+ method failed/,
  /^ray\.exceptions\.|RayTaskError\(/,
];
