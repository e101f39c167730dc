//! Modules of the standard library and what they hold: an import of what is not there
//! raises where it stands, so only known names may be passed over.

/// Modules of CPython 3.11's standard library that functions commonly import.
const MODULES: &[&str] = &[
    "__future__",
    "abc",
    "array",
    "base64",
    "binascii",
    "bisect",
    "calendar",
    "cmath",
    "collections",
    "collections.abc",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "keyword",
    "locale",
    "logging",
    "math",
    "numbers",
    "operator",
    "os",
    "os.path",
    "pathlib",
    "pickle",
    "random",
    "re",
    "secrets",
    "statistics",
    "string",
    "struct",
    "sys",
    "textwrap",
    "threading",
    "time",
    "types",
    "typing",
    "unicodedata",
    "urllib",
    "urllib.parse",
    "uuid",
    "warnings",
    "xml",
    "xml.sax",
    "xml.sax.saxutils",
    "zlib",
    "zoneinfo",
];

/// Public names of some of them (`__all__`, or what `dir` shows), on every system.
const NAMES: &[(&str, &str)] = &[
    ("abc", "ABC ABCMeta abstractclassmethod abstractmethod abstractproperty abstractstaticmethod"),
    ("collections", "ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque namedtuple"),
    (
        "collections.abc",
        "AsyncGenerator AsyncIterable AsyncIterator Awaitable ByteString Callable Collection Container \
         Coroutine Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping \
         MutableSequence MutableSet Reversible Sequence Set Sized ValuesView",
    ),
    (
        "binascii",
        "Error Incomplete a2b_base64 a2b_hex a2b_qp a2b_uu b2a_base64 b2a_hex b2a_qp b2a_uu crc32 crc_hqx hexlify \
         unhexlify",
    ),
    (
        "contextlib",
        "AbstractAsyncContextManager AbstractContextManager AsyncExitStack ContextDecorator ExitStack aclosing \
         asynccontextmanager chdir closing contextmanager nullcontext redirect_stderr redirect_stdout suppress",
    ),
    ("copy", "Error copy deepcopy"),
    (
        "dataclasses",
        "Field FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple dataclass field fields is_dataclass \
         make_dataclass replace",
    ),
    (
        "csv",
        "Dialect DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC Sniffer \
         __doc__ __version__ excel excel_tab field_size_limit get_dialect list_dialects reader \
         register_dialect unix_dialect unregister_dialect writer",
    ),
    ("datetime", "MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo"),
    (
        "decimal",
        "BasicContext Clamped Context ConversionSyntax Decimal DecimalException DecimalTuple DefaultContext \
         DivisionByZero DivisionImpossible DivisionUndefined ExtendedContext FloatOperation HAVE_CONTEXTVAR \
         HAVE_THREADS Inexact InvalidContext InvalidOperation MAX_EMAX MAX_PREC MIN_EMIN MIN_ETINY Overflow \
         ROUND_05UP ROUND_CEILING ROUND_DOWN ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP \
         ROUND_UP Rounded Subnormal Underflow getcontext localcontext setcontext",
    ),
    (
        "enum",
        "CONFORM CONTINUOUS EJECT Enum EnumCheck EnumMeta EnumType Flag FlagBoundary IntEnum IntFlag KEEP \
         NAMED_FLAGS ReprEnum STRICT StrEnum UNIQUE auto global_enum global_enum_repr global_flag_repr \
         global_str member nonmember pickle_by_enum_name pickle_by_global_name property unique verify",
    ),
    (
        "difflib",
        "Differ HtmlDiff IS_CHARACTER_JUNK IS_LINE_JUNK Match SequenceMatcher context_diff diff_bytes \
         get_close_matches ndiff restore unified_diff",
    ),
    ("fractions", "Fraction"),
    (
        "functools",
        "WRAPPER_ASSIGNMENTS WRAPPER_UPDATES cache cached_property cmp_to_key lru_cache partial partialmethod \
         reduce singledispatch singledispatchmethod total_ordering update_wrapper wraps",
    ),
    ("hmac", "HMAC compare_digest digest digest_size new trans_36 trans_5C"),
    (
        "io",
        "BlockingIOError BufferedIOBase BufferedRWPair BufferedRandom BufferedReader BufferedWriter BytesIO \
         DEFAULT_BUFFER_SIZE FileIO IOBase IncrementalNewlineDecoder RawIOBase SEEK_CUR SEEK_END SEEK_SET \
         StringIO TextIOBase TextIOWrapper UnsupportedOperation open open_code text_encoding",
    ),
    (
        "ipaddress",
        "AddressValueError IPV4LENGTH IPV6LENGTH IPv4Address IPv4Interface IPv4Network IPv6Address \
         IPv6Interface IPv6Network NetmaskValueError collapse_addresses functools get_mixed_type_key \
         ip_address ip_interface ip_network summarize_address_range v4_int_to_packed v6_int_to_packed",
    ),
    (
        "itertools",
        "accumulate chain combinations combinations_with_replacement compress count cycle dropwhile \
         filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest",
    ),
    ("json", "JSONDecodeError JSONDecoder JSONEncoder dump dumps load loads"),
    (
        "logging",
        "BASIC_FORMAT BufferingFormatter CRITICAL DEBUG ERROR FATAL FileHandler Filter Formatter Handler INFO \
         LogRecord Logger LoggerAdapter NOTSET NullHandler StreamHandler WARN WARNING addLevelName \
         basicConfig captureWarnings critical debug disable error exception fatal getLevelName \
         getLevelNamesMapping getLogRecordFactory getLogger getLoggerClass info lastResort log makeLogRecord \
         raiseExceptions setLogRecordFactory setLoggerClass shutdown warn warning",
    ),
    (
        "math",
        "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp \
         exp2 expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan \
         isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder \
         sin sinh sqrt tan tanh tau trunc ulp",
    ),
    ("numpy", "bool_ errstate float64 int64 ndarray vectorize"),
    (
        "operator",
        "abs add and_ attrgetter call concat contains countOf delitem eq floordiv ge getitem gt iadd iand \
         iconcat ifloordiv ilshift imatmul imod imul index indexOf inv invert ior ipow irshift is_ is_not \
         isub itemgetter itruediv ixor le length_hint lshift lt matmul methodcaller mod mul ne neg not_ or_ \
         pos pow rshift setitem sub truediv truth xor",
    ),
    (
        "random",
        "Random SystemRandom betavariate choice choices expovariate gammavariate gauss getrandbits getstate \
         lognormvariate normalvariate paretovariate randbytes randint random randrange sample seed setstate \
         shuffle triangular uniform vonmisesvariate weibullvariate",
    ),
    (
        "re",
        "A ASCII DOTALL I IGNORECASE L LOCALE M MULTILINE Match NOFLAG Pattern RegexFlag S U UNICODE VERBOSE \
         X compile error escape findall finditer fullmatch match purge search split sub subn template",
    ),
    (
        "statistics",
        "NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean \
         linear_regression mean median median_grouped median_high median_low mode multimode pstdev pvariance \
         quantiles stdev variance",
    ),
    (
        "string",
        "Formatter Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits \
         printable punctuation whitespace",
    ),
    ("struct", "Struct calcsize error iter_unpack pack pack_into unpack unpack_from"),
    ("textwrap", "TextWrapper dedent fill indent shorten wrap"),
    (
        "time",
        "altzone asctime ctime daylight get_clock_info gmtime localtime mktime monotonic monotonic_ns \
         perf_counter perf_counter_ns process_time process_time_ns sleep strftime strptime struct_time \
         thread_time thread_time_ns time time_ns timezone tzname",
    ),
    (
        "types",
        "AsyncGeneratorType BuiltinFunctionType BuiltinMethodType CellType ClassMethodDescriptorType CodeType \
         CoroutineType DynamicClassAttribute EllipsisType FrameType FunctionType GeneratorType GenericAlias \
         GetSetDescriptorType LambdaType MappingProxyType MemberDescriptorType MethodDescriptorType \
         MethodType MethodWrapperType ModuleType NoneType NotImplementedType SimpleNamespace TracebackType \
         UnionType WrapperDescriptorType coroutine new_class prepare_class resolve_bases",
    ),
    (
        "typing",
        "AbstractSet Annotated Any AnyStr AsyncContextManager AsyncGenerator AsyncIterable AsyncIterator \
         Awaitable BinaryIO ByteString Callable ChainMap ClassVar Collection Concatenate Container \
         ContextManager Coroutine Counter DefaultDict Deque Dict Final ForwardRef FrozenSet Generator Generic \
         Hashable IO ItemsView Iterable Iterator KeysView List Literal LiteralString Mapping MappingView \
         Match MutableMapping MutableSequence MutableSet NamedTuple Never NewType NoReturn NotRequired \
         Optional OrderedDict ParamSpec ParamSpecArgs ParamSpecKwargs Pattern Protocol Required Reversible \
         Self Sequence Set Sized SupportsAbs SupportsBytes SupportsComplex SupportsFloat SupportsIndex \
         SupportsInt SupportsRound TYPE_CHECKING Text TextIO Tuple Type TypeAlias TypeGuard TypeVar \
         TypeVarTuple TypedDict Union Unpack ValuesView assert_never assert_type cast clear_overloads \
         dataclass_transform final get_args get_origin get_overloads get_type_hints is_typeddict \
         no_type_check no_type_check_decorator overload reveal_type runtime_checkable",
    ),
    (
        "xml.sax.saxutils",
        "XMLFilterBase XMLGenerator codecs escape handler io os prepare_input_source quoteattr unescape urllib xmlreader",
    ),
    (
        "uuid",
        "NAMESPACE_DNS NAMESPACE_OID NAMESPACE_URL NAMESPACE_X500 RESERVED_FUTURE RESERVED_MICROSOFT \
         RESERVED_NCS RFC_4122 SafeUUID UUID getnode uuid1 uuid3 uuid4 uuid5",
    ),
    (
        "unicodedata",
        "UCD bidirectional category combining decimal decomposition digit east_asian_width is_normalized \
         lookup mirrored name normalize numeric ucd_3_2_0 unidata_version",
    ),
];

/// Every module with the names of it that are known.
pub fn modules() -> impl Iterator<Item = (&'static str, &'static str)> {
    let names = |module| NAMES.iter().find(|(of, _)| *of == module).map_or("", |(_, names)| names);
    MODULES.iter().map(move |module| (*module, names(*module)))
}

/// Whether a module is one of CPython's standard library.
pub(crate) fn is_module(name: &str) -> bool {
    MODULES.contains(&name)
}

/// All public names of a module, if they are known and are the same on every system.
pub(crate) fn public_names(module: &str) -> Option<impl Iterator<Item = &'static str>> {
    // These have more, some of them on some systems.
    let (_, names) = NAMES.iter().find(|(of, _)| *of == module && !matches!(*of, "abc" | "time"))?;
    Some(names.split(' '))
}

/// Whether a module certainly has that name.
pub(crate) fn has_name(module: &str, name: &str) -> bool {
    NAMES.iter().any(|(of, names)| *of == module && names.split(' ').any(|known| known == name))
}
